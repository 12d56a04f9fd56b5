"""Image data sets, read from the files that their authors publish."""
from wherry_vision.datasets.cifar import Cifar10, Cifar100
from wherry_vision.datasets.flowers import Flowers
from wherry_vision.datasets.folder import DatasetFolder, ImageFolder
from wherry_vision.datasets.mnist import MNIST, FashionMNIST
from wherry_vision.datasets.voc2012 import VOC2012

__all__ = ["MNIST", "VOC2012", "Cifar10", "Cifar100", "DatasetFolder", "FashionMNIST", "Flowers", "ImageFolder"]
