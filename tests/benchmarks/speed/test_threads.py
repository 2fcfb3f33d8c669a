import multiprocessing

from benchmarks.speed.threads import measure, neighbor, network_of


def test_one_thread_is_set_against_all_quiet_and_busy():
    found = measure(columns=3, batch=4, rounds=3, most_threads=1)
    assert found["cells"] == 12
    for name in ("quiet", "busy"):
        one, all_of_them = found[name]["one_thread_ms"], found[name]["all_threads_ms"]
        assert min(one, all_of_them) > 0
        assert abs(found[name]["one_over_all"] - one / all_of_them) < 0.01


def test_the_neighbor_is_there_only_as_long_as_it_is_needed():
    with neighbor(is_there=True):
        (process,) = multiprocessing.active_children()
        assert process.is_alive()
    assert not multiprocessing.active_children()


def test_it_is_the_network_of_balanced():
    assert network_of(5).config.encoder_depth == 3
