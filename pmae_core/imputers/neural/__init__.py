"""Neural methods that the paper compares with: a method and its network, one file each."""
