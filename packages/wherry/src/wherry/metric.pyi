"""Stub of wherry.metric, written by tools/stubs.py: where each public name comes from."""
from wherry_train.metric import Accuracy as Accuracy
from wherry_train.metric import Auc as Auc
from wherry_train.metric import Metric as Metric
from wherry_train.metric import Precision as Precision
from wherry_train.metric import Recall as Recall
from wherry_train.metric import accuracy as accuracy
__all__: list[str]
