"""Tells memtrace which test runs; does nothing while memtrace does not record Python."""

import ctypes

import pytest

_mark = getattr(ctypes.CDLL(None), "memtrace_mark", None)
if _mark:
    _mark.argtypes, _mark.restype = [ctypes.c_char_p], None


def mark(text):
    if _mark:
        _mark(text.encode())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    mark(f"test began: {item.nodeid}")
    yield
    mark(f"test ended: {item.nodeid}")
