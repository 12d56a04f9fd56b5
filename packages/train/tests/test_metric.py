"""Metrics against counts made by hand."""
import numpy as np
import pytest

from wherry_tensor import to_tensor, zeros
from wherry_train.metric import Accuracy, Auc, Metric, Precision, Recall, accuracy

SCORES = np.array([[0.1, 0.2, 0.3, 0.4], [0.1, 0.4, 0.3, 0.2], [0.1, 0.2, 0.4, 0.3], [0.3, 0.2, 0.1, 0.4]], "float32")
LABELS = np.array([0, 1, 3, 2])
PLACES = [(-SCORES[i]).argsort().tolist().index(LABELS[i]) for i in range(4)]  # of the label, from the best guess


@pytest.mark.parametrize("form", ["rank one", "column", "one hot", "int32"])
@pytest.mark.parametrize("topk", [(1,), (1, 2), (3, 1), [4]])
def test_accuracy_counts_labels_among_the_best_guesses(form, topk):
    label = {"rank one": LABELS, "column": LABELS[:, None], "one hot": np.eye(4, dtype="float32")[LABELS],
             "int32": LABELS.astype("int32")}[form]
    metric = Accuracy(topk)
    correct = metric.compute(to_tensor(SCORES), to_tensor(label))
    assert correct.shape == [4, max(topk)] and correct.dtype.name == "float32"
    np.testing.assert_array_equal(correct.numpy().argmax(axis=1)[correct.numpy().any(axis=1)],
                                  [p for p in PLACES if p < max(topk)])
    expected = [sum(p < k for p in PLACES) / 4 for k in topk]
    expected = expected if len(topk) > 1 else expected[0]
    assert metric.update(correct) == expected
    assert metric.update(correct.numpy()) == expected
    assert metric.accumulate() == expected
    metric.reset()
    assert metric.accumulate() == (0.0 if len(topk) == 1 else [0.0] * len(topk))


def test_accuracy_of_batches_counts_samples_not_batches():
    metric = Accuracy()
    metric.update(np.ones([3, 1]))
    metric.update(np.zeros([1, 1]))
    assert metric.accumulate() == 0.75


def test_accuracy_of_one_number_is_refused():
    with pytest.raises(ValueError, match="Got one number, expected"):
        Accuracy().update(np.array(1.0))


def test_accuracy_of_sequences_takes_every_place():
    metric = Accuracy()
    correct = metric.compute(to_tensor(SCORES.reshape(2, 2, 4)), to_tensor(LABELS.reshape(2, 2, 1)))
    assert metric.update(correct) == 0.25


def test_names_tell_the_ks_apart():
    assert Accuracy().name() == ["acc"]
    assert Accuracy((1, 5)).name() == ["acc_top1", "acc_top5"]
    assert Accuracy((1, 5), name="hit").name() == ["hit_top1", "hit_top5"]
    assert (Precision().name(), Recall("r").name(), Auc().name()) == ("precision", "r", "auc")


@pytest.mark.parametrize("call, error, says", [
    (lambda: Accuracy(1), TypeError, r"expected a tuple of ints. Write topk=\(1,\)"),
    (lambda: Accuracy((0,)), ValueError, "each 1 or more"),
    (lambda: Accuracy(()), ValueError, "at least one k"),
    (lambda: Accuracy((5,)).compute(to_tensor(SCORES), to_tensor(LABELS)), ValueError, "at least 5 classes"),
    (lambda: Accuracy().compute(SCORES, to_tensor(LABELS)), TypeError, "'pred' must be a Tensor"),
    (lambda: Accuracy().compute(to_tensor(SCORES), to_tensor(LABELS[:3])), ValueError, r"expected \[4\] or \[4, 1\]"),
    (lambda: Precision().update([0.5], [1]), TypeError, "The 'preds' must be a numpy ndarray or Tensor"),
    (lambda: Recall().update(np.ones(2), np.ones(3)), ValueError, "Got 2 preds and 3 labels"),
    (lambda: Auc(curve="F1"), ValueError, "expected 'ROC' or 'PR'"),
    (lambda: Auc(num_thresholds=0), ValueError, "expected 1 or more"),
    (lambda: Auc().update(np.ones(3), np.ones(3)), ValueError, r"expected preds of shape \[3, 2\]"),
    (lambda: Auc().update(np.full([1, 2], 1.5), np.ones(1)), AssertionError, "Got 1.5"),
    (lambda: Auc().update(np.full([1, 2], np.nan), np.ones(1)), ValueError, "Got nan"),
    (lambda: accuracy(to_tensor(SCORES), to_tensor(LABELS)), ValueError, r"expected \[N, C\] and \[N, 1\]"),
    (lambda: accuracy(to_tensor(SCORES), to_tensor(LABELS[:, None]), k=5), ValueError, r"one in \[1, 4\]"),
    (lambda: accuracy(to_tensor(SCORES), to_tensor(LABELS[:, None].astype("float32"))), TypeError, "labels are not integers"),
    (lambda: Metric(), TypeError, "abstract"),
])
def test_what_makes_no_sense_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


PROBABILITIES = np.array([0.1, 0.5, 0.6, 0.7, 0.2])
POSITIVE = np.array([1, 1, 0, 1, 0])


def test_precision_and_recall_count_what_was_called_positive():
    precision, recall = Precision(), Recall()
    for metric in (precision, recall):
        metric.update(PROBABILITIES, POSITIVE)
        metric.update(to_tensor(PROBABILITIES[:, None]), to_tensor(POSITIVE[:, None]))
    assert (precision.tp, precision.fp, precision.accumulate()) == (4, 2, 4 / 6)
    # 0.5 itself is positive for one of them, and not for the other.
    assert (recall.tp, recall.fn, recall.accumulate()) == (2, 4, 2 / 6)
    for metric in (precision, recall):
        metric.reset()
        assert metric.accumulate() == 0.0


def test_auc_is_the_chance_that_a_positive_scores_higher():
    random = np.random.default_rng(0)
    label = random.integers(0, 2, 200)
    score = np.round(np.clip(random.normal(0.4 + 0.2 * label, 0.3), 0, 1), 2)
    higher = score[label == 1][:, None] - score[label == 0]
    expected = (np.sign(higher) / 2 + 0.5).mean()  # ties count one half
    metric = Auc()
    for part in (slice(0, 50), slice(50, None)):
        metric.update(np.stack([1 - score, score], axis=1)[part], label[part][:, None])
    assert metric.accumulate() == pytest.approx(expected, abs=1e-12)
    metric.reset()
    assert metric.accumulate() == 0.0


def test_area_under_precision_and_recall():
    # By hand: thresholds from the top find positives at ranks 1, 3, 4.
    metric = Auc(curve="PR")
    score = np.array([0.9, 0.8, 0.7, 0.6, 0.1])
    metric.update(np.stack([1 - score, score], axis=1), np.array([1, 0, 1, 1, 0]))
    precision = np.array([1, 1, 1 / 2, 2 / 3, 3 / 4])
    recall = np.array([0, 1 / 3, 1 / 3, 2 / 3, 1])
    expected = (np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum()
    assert metric.accumulate() == pytest.approx(expected)


def test_accuracy_function_fills_counts():
    correct, total = zeros([1], "int32"), zeros([1], "int32")
    share = accuracy(to_tensor(SCORES), to_tensor(LABELS[:, None]), 2, correct, total)
    hits = sum(p < 2 for p in PLACES)
    assert share.shape == [] and float(share) == hits / 4
    assert (int(correct), int(total)) == (hits, 4)


def test_a_metric_of_ones_own_passes_everything_on_and_keeps_its_counts():
    class Largest(Metric):
        def __init__(self):
            super().__init__()
            self.reset()

        def reset(self):
            self.largest = np.zeros(2)
            self.seen = to_tensor(0)  # no plain data: not kept

        def update(self, x):
            self.largest = np.maximum(self.largest, x)

        def accumulate(self):
            return self.largest

        def name(self):
            return "largest"

    metric = Largest()
    assert metric.compute(1, 2) == (1, 2)
    metric.update(np.array([1.0, 2.0]))
    state = metric.state_dict()
    assert list(state) == ["largest"]
    metric.reset()
    metric.set_state_dict({"largest": to_tensor(state["largest"])})  # as it comes out of a file
    np.testing.assert_array_equal(metric.accumulate(), [1.0, 2.0])


def test_a_state_that_is_too_deep_is_refused():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested at most 64 deep"):
        Precision().set_state_dict({"tp": deep})
