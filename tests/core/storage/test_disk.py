from pmae_core.storage.disk import bytes_of, remove_path


def test_a_folder_takes_what_its_files_take(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(bytes(1000))
    (tmp_path / "two").write_bytes(bytes(20))

    assert bytes_of(tmp_path) == 1020
    assert bytes_of(tmp_path / "two") == 20
    assert bytes_of(tmp_path / "nothing") == 0


def test_links_are_neither_counted_nor_followed(tmp_path):
    (tmp_path / "large").write_bytes(bytes(100_000))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "large")

    assert bytes_of(folder) < 1000
    remove_path(folder)

    assert (tmp_path / "large").exists()
    assert not folder.exists()


def test_what_is_gone_can_be_removed_again(tmp_path):
    remove_path(tmp_path / "nothing")
