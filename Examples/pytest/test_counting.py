import ctypes
import os

import pytest

library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "build", "libcounting.so"))
library.counter_new.restype = ctypes.c_void_p
library.counter_add.argtypes = [ctypes.c_void_p, ctypes.c_long]
library.counter_add.restype = ctypes.c_long
library.counter_free.argtypes = [ctypes.c_void_p]
library.counter_free.restype = None


def test_a_counter_counts():
    counter = library.counter_new()
    assert library.counter_add(counter, 2) == 2
    assert library.counter_add(counter, 3) == 5
    library.counter_free(counter)


@pytest.mark.parametrize("number", [1, 2])
def test_a_counter_begins_with_zero(number):
    for _ in range(10):
        counter = library.counter_new()
        assert library.counter_add(counter, number) == number
