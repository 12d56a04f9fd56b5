"""Estimators of scikit-learn through skl2onnx: what is read gives what ONNX Runtime gives, what is not is refused by the name of the operator."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("skl2onnx", reason="tox run -e exporters-sklearn")

from agreement import agree  # noqa: E402
from skl2onnx import to_onnx  # noqa: E402
from sklearn import (  # noqa: E402
    calibration,
    cluster,
    decomposition,
    ensemble,
    feature_selection,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.datasets import load_iris  # noqa: E402

import wherry  # noqa: E402

X, Y = load_iris(return_X_y=True)
X = X.astype("float32")

MODELS = {
    "LogisticRegression": linear_model.LogisticRegression(max_iter=300),
    "LinearRegression": linear_model.LinearRegression(),
    "Ridge": linear_model.Ridge(),
    "Lasso": linear_model.Lasso(0.1),
    "ElasticNet": linear_model.ElasticNet(0.1),
    "SGDClassifier": linear_model.SGDClassifier(loss="log_loss", random_state=0),
    "BayesianRidge": linear_model.BayesianRidge(),
    "Perceptron": linear_model.Perceptron(random_state=0),
    "RidgeClassifier": linear_model.RidgeClassifier(),
    "PoissonRegressor": linear_model.PoissonRegressor(),
    "LinearSVC": svm.LinearSVC(),
    "LinearSVR": svm.LinearSVR(),
    "SVR": svm.SVR(),
    "NuSVR": svm.NuSVR(),
    "DecisionTreeClassifier": tree.DecisionTreeClassifier(random_state=0),
    "DecisionTreeRegressor": tree.DecisionTreeRegressor(random_state=0),
    "RandomForestClassifier": ensemble.RandomForestClassifier(6, random_state=0),
    "RandomForestRegressor": ensemble.RandomForestRegressor(6, random_state=0),
    "ExtraTreesClassifier": ensemble.ExtraTreesClassifier(6, random_state=0),
    "GradientBoostingClassifier": ensemble.GradientBoostingClassifier(n_estimators=5),
    "GradientBoostingRegressor": ensemble.GradientBoostingRegressor(n_estimators=5),
    "AdaBoostRegressor": ensemble.AdaBoostRegressor(n_estimators=4),
    "BaggingRegressor": ensemble.BaggingRegressor(n_estimators=3),
    "MLPClassifier": neural_network.MLPClassifier(hidden_layer_sizes=(8,), max_iter=150, random_state=0),
    "MLPRegressor": neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=150, random_state=0),
    "GaussianNB": naive_bayes.GaussianNB(),
    "BernoulliNB": naive_bayes.BernoulliNB(),
    "MultinomialNB": naive_bayes.MultinomialNB(),
    "ComplementNB": naive_bayes.ComplementNB(),
    "KNeighborsClassifier": neighbors.KNeighborsClassifier(3),
    "KNeighborsRegressor": neighbors.KNeighborsRegressor(3),
    "KMeans": cluster.KMeans(3, n_init=2, random_state=0),
    "PCA": decomposition.PCA(2),
    "TruncatedSVD": decomposition.TruncatedSVD(2),
    "StandardScaler": preprocessing.StandardScaler(),
    "MinMaxScaler": preprocessing.MinMaxScaler(),
    "MaxAbsScaler": preprocessing.MaxAbsScaler(),
    "RobustScaler": preprocessing.RobustScaler(),
    "Normalizer": preprocessing.Normalizer(),
    "Binarizer": preprocessing.Binarizer(threshold=2.0),
    "PolynomialFeatures": preprocessing.PolynomialFeatures(2),
    "KBinsDiscretizer": preprocessing.KBinsDiscretizer(3, encode="onehot-dense"),
    "PowerTransformer": preprocessing.PowerTransformer(),
    "SelectKBest": feature_selection.SelectKBest(k=2),
    "VarianceThreshold": feature_selection.VarianceThreshold(0.3),
    "Calibrated": calibration.CalibratedClassifierCV(linear_model.LogisticRegression(), cv=2),
    "Voting": ensemble.VotingClassifier(
        [("a", linear_model.LogisticRegression()), ("b", tree.DecisionTreeClassifier(max_depth=2))],
        voting="soft",
        flatten_transform=False,
    ),
    "Stacking": ensemble.StackingRegressor(
        [("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=2))]
    ),
    "SVC": svm.SVC(),
    "OneHotEncoder": preprocessing.OneHotEncoder(),
    "pipeline": pipeline.make_pipeline(
        preprocessing.StandardScaler(), decomposition.PCA(3), linear_model.LogisticRegression()
    ),
}
REFUSED = {"SVC": "SVMClassifier"}


def exported(name: str) -> bytes:
    model = MODELS[name].fit(X[::2].round() if name == "OneHotEncoder" else X[::2], Y[::2])
    options = {"zipmap": False} if hasattr(model, "predict_proba") or name == "Perceptron" else None
    return to_onnx(model, X[:1], options=options, target_opset={"": 18, "ai.onnx.ml": 3}).SerializeToString()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in MODELS if name not in REFUSED])
def test_an_estimator_gives_what_onnx_runtime_gives(name):
    agree(exported(name), [X[::14].round() if name == "OneHotEncoder" else X[::7]])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused_by_its_name(name):
    with pytest.raises(NotImplementedError, match=REFUSED[name]):
        wherry.InferenceSession(exported(name)).run(None, {"X": X})


def test_labels_as_numbers_come_out_as_such():
    (port, _scores) = wherry.InferenceSession(exported("LogisticRegression")).get_outputs()
    assert port.type == "tensor(int64)"
    assert set(np.unique(wherry.InferenceSession(exported("DecisionTreeClassifier")).run(None, {"X": X})[0])) == {
        0,
        1,
        2,
    }
