# Loses references to objects, as extensions in C do that call Py_INCREF once too often; others are in a cycle, which
# the collector finds, or alive. At the end those are lost with the others: these hold their class, the class its
# functions, and they, from Python 3.12 on, the names of this file.
import ctypes
import os
import sys


class Node:
    def __init__(self):
        self.items = [1, 2]


class Kept(Node):
    pass


class Ring:
    def __init__(self):
        self.me = self


def lose(thing):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def leak():
    for _ in range(20):
        lose(Node())
        lose({"key": []})
        Ring()


def clear(depth):
    return sum(clear(depth - 1) for _ in range(2)) if depth else 1


leak()
kept = [Kept() for _ in range(20)]
clear(8)
if "now" in sys.argv:
    os._exit(0)
