"""Stub of wherry.vision.datasets, written by tools/stubs.py: where each public name comes from."""
from wherry_vision.datasets.cifar import Cifar10 as Cifar10
from wherry_vision.datasets.cifar import Cifar100 as Cifar100
from wherry_vision.datasets.flowers import Flowers as Flowers
from wherry_vision.datasets.folder import DatasetFolder as DatasetFolder
from wherry_vision.datasets.folder import ImageFolder as ImageFolder
from wherry_vision.datasets.mnist import FashionMNIST as FashionMNIST
from wherry_vision.datasets.mnist import MNIST as MNIST
from wherry_vision.datasets.voc2012 import VOC2012 as VOC2012
__all__: list[str]
