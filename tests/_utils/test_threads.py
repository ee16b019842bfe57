"""The limit of BLAS threads."""

from threading import Thread

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelknife._utils.threads import SMALL, limited_blas


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def several():
    """The numbers of threads outside of a limit: two, whatever the environment asks for."""
    with threadpool_limits(2, user_api="blas"):
        threads = blas_threads()
        if threads == {1}:
            pytest.skip("this BLAS has a single thread")
        yield threads


def test_small_matrices_get_one_thread_and_large_ones_all(several):
    with limited_blas(10):
        assert blas_threads() == {1}
    assert blas_threads() == several
    with limited_blas(SMALL):
        assert blas_threads() == several


def test_the_limit_goes_when_a_fit_fails(several):
    with pytest.raises(ZeroDivisionError), limited_blas():
        1 / 0  # noqa: B018
    assert blas_threads() == several


def test_a_fit_in_another_thread_does_not_take_the_limit_away(several):
    def other_fit():
        with limited_blas():
            pass

    with limited_blas():
        thread = Thread(target=other_fit)
        thread.start()
        thread.join()
        assert blas_threads() == {1}
        with limited_blas():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == several
