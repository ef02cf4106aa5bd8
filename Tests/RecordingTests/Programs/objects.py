# Objects of classes of all kinds, alive when the process ends.
import abc
import collections
import os
import sys


class Node:
    def __init__(self):
        self.next = None


class Slotted:
    __slots__ = ("first", "second")

    def __init__(self):
        self.first = self.second = None


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        pass


class Circle(Shape):
    def area(self):
        return 1


class Meta(type):
    pass


class Made(metaclass=Meta):
    pass


kept = [Node() for _ in range(100)] + [Slotted() for _ in range(50)]
kept += [Circle() for _ in range(30)] + [Made() for _ in range(20)]
ordered = [collections.OrderedDict(a=i) for i in range(10)]
print(len(kept), len(ordered))
# Without taking anything down.
sys.stdout.flush()
os._exit(0)
