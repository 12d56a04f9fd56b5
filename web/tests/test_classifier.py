"""What a visitor teaches, here without a page; and the backbone after it."""
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import wherry as paddle
from wherry_web.client import backbone
from wherry_web.client.classifier import Classifier, scaled
from wherry_web.files import STATIC

WEIGHTS = (STATIC / "data" / "backbone.bin").read_bytes()
SETTINGS = {"hidden": 64, "learning_rate": 0.003, "epochs": 40, "seed": 0}
SIDE = backbone.SIDE


@pytest.fixture(scope="module")
def blank():
    return Classifier(WEIGHTS)


@pytest.fixture
def classifier(blank):
    """A new one; reading the weights takes longer than all else."""
    blank.__init__(WEIGHTS)
    return blank


def drawn(kind: int, count: int, seed: int) -> bytes:
    """Canvases with a disc (kind 0), stripes (1), or checks (2)."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    pictures = []
    for _ in range(count):
        move, wide = rng.uniform(0.35, 0.65, 2), rng.uniform(0.8, 1.2)
        inside = (
            (x - move[0]) ** 2 + (y - move[1]) ** 2 < (0.25 * wide) ** 2,
            np.sin(y * 40 * wide + move[0] * 20) > 0,
            (np.floor(x * 5 * wide + move[0]) + np.floor(y * 5 * wide + move[1])) % 2 > 0,
        )[kind]
        colour = np.where(inside[..., None], rng.uniform(150, 255, 3), rng.uniform(0, 90, 3)) + rng.normal(0, 8, (SIDE, SIDE, 3))
        pictures.append(np.concatenate([colour.clip(0, 255), np.full((SIDE, SIDE, 1), 255)], 2).astype(np.uint8))
    return np.stack(pictures).tobytes()


def give(classifier: Classifier, counts: list[int]) -> None:
    for kind, count in enumerate(counts):
        classifier.add(f"c{kind}", drawn(kind, count, kind), count)


def train(classifier: Classifier) -> dict:
    while not classifier.run(20)["done"]:
        pass
    return classifier.evaluate()


def test_the_backbone_is_small_and_gives_features(blank):
    assert len(WEIGHTS) < 2_000_000
    with paddle.no_grad():
        features = blank.backbone(scaled(drawn(0, 2, 0)))
    assert features.shape == [2, backbone.FEATURES]
    assert float(features.min()) >= 0 and float(features.max()) > 0.1


def test_a_folded_backbone_answers_as_the_trained_one():
    paddle.seed(0)
    trained = backbone.Backbone(folded=False)
    pictures = paddle.rand([8, 3, 32, 32]) * 2 - 1
    for _ in range(3):
        trained(pictures)  # moves the statistics
    trained.eval()
    with paddle.no_grad():
        wanted = trained(pictures).numpy()
        folded = backbone.folded(trained)
        np.testing.assert_allclose(folded(pictures).numpy(), wanted, rtol=1e-4, atol=1e-5)
        small = backbone.unpacked(backbone.packed(folded))(pictures).numpy()
    np.testing.assert_allclose(small, wanted, atol=0.01 * wanted.max())  # float16
    assert not any(isinstance(layer, paddle.nn.BatchNorm2D) for layer in folded.sublayers())


def test_features_tell_patterns_apart_better_than_pixels_and_random_weights(blank):
    pictures = paddle.concat([scaled(drawn(kind, 25, seed=kind)) for kind in range(3)])
    paddle.seed(0)
    random = backbone.Backbone(folded=False)
    random.eval()

    def right(features: np.ndarray) -> float:
        """Of 20 pictures of each kind, by the nearest mean of 5."""
        features = (features / np.linalg.norm(features, axis=1, keepdims=True)).reshape(3, 25, -1)
        far = ((features[:, 5:, None] - features[:, :5].mean(1)) ** 2).sum(-1)
        return float((far.argmin(-1) == np.arange(3)[:, None]).mean())

    with paddle.no_grad():
        trained, untrained = (right(network(pictures).numpy()) for network in (blank.backbone, random))
    pixels = right(paddle.flatten(pictures, 1).numpy())
    assert trained > 0.9 and trained > untrained + 0.1 and trained > pixels + 0.1, (trained, untrained, pixels)


def test_a_fifth_is_held_out_the_last_of_those_that_came_together(classifier):
    held = [one["held"] for one in classifier.add("c0", drawn(0, 11, 0), 11)]
    assert held == [False] * 9 + [True] * 2
    held = [one["held"] for _ in range(4) for one in classifier.add("c0", drawn(0, 1, 1), 1)]
    assert held == [False, False, False, True]  # 15 by now
    first = [one["held"] for one in classifier.add("c1", drawn(1, 6, 0), 10)]
    second = [one["held"] for one in classifier.add("c1", drawn(1, 4, 0), 4)]
    assert first + second == [False] * 8 + [True] * 2
    assert [one["id"] for one in classifier.add("c1", drawn(1, 1, 0), 1)] == [25]


def test_three_classes_are_learned(classifier):
    give(classifier, [15, 15, 15])
    before = classifier.begin(["c0", "c1", "c2"], SETTINGS)
    assert before["steps"] == 0 and before["count"] == 9
    after = train(classifier)
    json.dumps(after)  # plain data through and through
    assert after["accuracy"] >= 0.8 and after["loss"] < before["loss"]
    assert sum(map(sum, after["confusion"])) == 9
    answers = [classifier.look(drawn(kind, 1, seed))["probabilities"] for seed in range(50, 56) for kind in range(3)]
    assert all(sum(answer) == pytest.approx(1, abs=1e-5) for answer in answers)
    assert sum(int(np.argmax(answer)) == i % 3 for i, answer in enumerate(answers)) >= 15


def test_the_same_pictures_train_the_same(classifier):
    give(classifier, [6, 6])
    losses = []
    for _ in range(2):
        classifier.begin(["c0", "c1"], SETTINGS)
        losses.append([classifier.step() for _ in range(5)])
    assert losses[0] == losses[1]


def test_a_class_with_few_pictures_counts_as_much(classifier):
    give(classifier, [4, 20])
    classifier.begin(["c0", "c1"], SETTINGS)
    assert (classifier.weight * paddle.to_tensor([12.0, 48.0])).tolist() == pytest.approx([30, 30])


def test_what_is_removed_is_not_learned_from(classifier):
    give(classifier, [5, 5])
    classifier.remove([0, 1, 2, 99])
    classifier.begin(["c0", "c1"], SETTINGS)
    assert classifier.features.shape == [(1 + 4) * 3, backbone.FEATURES]
    classifier.remove([3])
    with pytest.raises(ValueError, match="class 1 has no picture to learn from"):
        classifier.begin(["c0", "c1"], SETTINGS)


def test_without_held_out_pictures_the_accuracy_is_unknown(classifier):
    give(classifier, [3, 3])
    classifier.begin(["c0", "c1"], {**SETTINGS, "hidden": 0, "epochs": 5})
    slices = [classifier.run(1)]
    while not slices[-1]["done"]:
        slices.append(classifier.run(1))
    json.dumps(slices)
    assert [one for part in slices for one in part["unseen"]] == [(i, None) for i in range(1, 6)]  # one batch holds all of them
    assert slices[-1]["epochs"] == 5 and classifier.run(1)["losses"] == []
    assert train(classifier)["accuracy"] is None


@pytest.mark.parametrize(("call", "message"), [
    (lambda c: c.add("c0", bytes(100), 1), r"got 100 bytes, expected 36864 for each"),
    (lambda c: c.add("c0", b"", 1), r"got 0 bytes"),
    (lambda c: c.begin(["c0"], SETTINGS), r"classes: got 1, expected 2 to 6"),
    (lambda c: c.begin(["c0", "c1"], SETTINGS), r"class 1 has no picture"),
    (lambda c: c.look(drawn(0, 1, 0)), r"Nothing is trained yet"),
])
def test_wrong_calls_are_explained(classifier, call, message):
    with pytest.raises(ValueError, match=message):
        call(classifier)


def test_a_learning_rate_out_of_range_is_explained(classifier):
    give(classifier, [1, 1])
    with pytest.raises(ValueError, match="learning rate: got 2.0"):
        classifier.begin(["c0", "c1"], {**SETTINGS, "learning_rate": 2})


def test_the_program_is_loaded_elsewhere(classifier, tmp_path):
    give(classifier, [5, 5])
    classifier.begin(["c0", "c1"], SETTINGS)
    train(classifier)
    with zipfile.ZipFile(io.BytesIO(classifier.program(["A", "Ü"]))) as archive:
        archive.extractall(tmp_path)
    assert (tmp_path / "labels.txt").read_text(encoding="utf-8").splitlines() == ["A", "Ü"]
    content = drawn(0, 1, 77)
    with paddle.no_grad():
        scores = paddle.jit.load(str(tmp_path / "classifier"))(scaled(content))
    probabilities = paddle.nn.functional.softmax(scores)[0].tolist()
    assert probabilities == pytest.approx(classifier.look(content)["probabilities"], abs=1e-5)


def test_the_web_page_is_a_folder_that_answers(classifier, tmp_path):
    from wherry_export.web import checking, engine_files

    if engine_files.missing():
        pytest.skip("no engine: make engine")
    give(classifier, [5, 5])
    classifier.begin(["c0", "c1"], SETTINGS)
    train(classifier)
    with zipfile.ZipFile(io.BytesIO(classifier.site("Mine", ["A", "B"]))) as archive:
        archive.extractall(tmp_path)
    manifest = json.loads((tmp_path / "site" / "manifest.json").read_text())
    assert manifest["title"] == "Mine" and manifest["labels"] == ["A", "B"]
    assert manifest["preprocess"] == {"mean": [0.5] * 3, "std": [0.5] * 3}
    assert sum(path.stat().st_size for path in Path(tmp_path).rglob("*") if path.is_file()) < 1_500_000
    if checking.node() is None:
        pytest.skip("no Node")
    content = drawn(1, 1, 78)
    answers, _ = checking.predicted(tmp_path / "site", {"picture": scaled(content).numpy()})
    (found,) = answers.values()
    shares = np.exp(found - found.max()) / np.exp(found - found.max()).sum()
    assert shares[0].tolist() == pytest.approx(classifier.look(content)["probabilities"], abs=0.01)  # half precision
