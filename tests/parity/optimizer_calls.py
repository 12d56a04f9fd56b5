"""What optimizers and schedulers of real Paddle and of wherry are asked.

    optimizer(how it is made, [before])     trains the network of `optimizer_worker.py` for ten steps
    scheduler(how it is made, [each step])  thirty learning rates

`parameters` are those of `net`; `optimizer` and `lr` are the modules. `before` runs first and may change
the network or make what the optimizer takes.
"""
from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    how: str
    before: str
    dtypes: tuple
    sparse: bool
    width: int


class Schedule(NamedTuple):
    how: str
    step: str


OPTIMIZERS: list[Row] = []
SCHEDULERS: list[Schedule] = []
FLOATS = ("float32", "float64")


def optimizer(how, before="", dtypes=FLOATS, sparse=False, width=5):
    OPTIMIZERS.append(Row(f"optimizer.{how}", before, dtypes, sparse, width))


def scheduler(how, step="s.step()"):
    SCHEDULERS.append(Schedule(f"lr.{how}", step))


# How each begins; what follows is the same for all of them.
MADE = {
    "SGD": "SGD(0.1", "Momentum": "Momentum(0.1, 0.9", "Nesterov": "Momentum(0.1, use_nesterov=True", "Adagrad": "Adagrad(0.1", "Adadelta": "Adadelta(1.0",
    "Adam": "Adam(0.05", "AdamW": "AdamW(0.05", "Adamax": "Adamax(0.05", "RMSProp": "RMSProp(0.05", "Centered": "RMSProp(0.05, centered=True, momentum=0.3", "Lamb": "Lamb(0.05",
}
DECAYS = ("0.1", "paddle.regularizer.L2Decay(0.1)", "paddle.regularizer.L1Decay(0.05)")
CLIPS = ("nn.ClipGradByValue(0.02)", "nn.ClipGradByValue(0.05, -0.01)", "nn.ClipGradByNorm(0.05)", "nn.ClipGradByGlobalNorm(0.1)")
for name, made in MADE.items():
    optimizer(f"{made}, parameters=parameters)")
    if name != "Lamb":
        for decay in DECAYS if name != "AdamW" else ("0.1", "0.0"):
            optimizer(f"{made}, parameters=parameters, weight_decay={decay})")
        optimizer(f"{made}, parameters=parameters, weight_decay=0.05, grad_clip=nn.ClipGradByGlobalNorm(0.1))",
                  "net.first.bias.need_clip = False")
    # Parameters of many thousand elements, of which threads take parts.
    optimizer(f"{made}, parameters=parameters, grad_clip=nn.ClipGradByGlobalNorm(0.1){', weight_decay=0.05' * (name != 'Lamb')})", width=6001)
    for clip in CLIPS:
        optimizer(f"{made}, parameters=parameters, grad_clip={clip})", dtypes=FLOATS if "ByNorm" not in clip else ("float32",))  # Paddle clips no float64 by norm
    optimizer(f"{made}, parameters=parameters)", "net.first.weight.optimize_attr['learning_rate'] = 0.3")
    if name != "AdamW":
        optimizer(f"{made}, parameters=parameters)", "net.first.weight.regularizer = paddle.regularizer.L2Decay(0.2)")
        optimizer(f"{made}, parameters=parameters, {'weight_decay=0.1' if name != 'Lamb' else 'lamb_weight_decay=0.1'})", "net.first.bias.regularizer = paddle.regularizer.L1Decay(0.2)")
    scheduled = made.replace("0.1", "rate").replace("0.05", "rate").replace("1.0", "rate")
    optimizer(f"{scheduled}, parameters=parameters)", "rate = lr.StepDecay(0.1, 3, 0.5)")
    optimizer(f"{scheduled}, parameters=parameters)", "rate = lr.LinearWarmup(lr.CosineAnnealingDecay(0.1, 8), 4, 0.01, 0.1)")
    groups = made.split("(")[0]
    optimizer(f"{made}, parameters=[{{'params': net.first.parameters()}}, {{'params': net.second.parameters(), 'learning_rate': 0.5}}])")
    if name != "Lamb":
        optimizer(f"{made}, parameters=[{{'params': net.first.parameters(), 'weight_decay': 0.1}}, {{'params': net.second.parameters(), 'learning_rate': 0.5, 'grad_clip': nn.ClipGradByNorm(0.03)}}], "
                  "weight_decay=0.01)", dtypes=("float32",))
    if name in ("SGD", "Adagrad", "Adam"):  # sparse gradients end the process of real Paddle with the others
        optimizer(f"{made}, parameters=parameters)", sparse=True)
    optimizer(f"{made}, parameters=parameters, name='mine')", dtypes=("float32",))
for how in ("SGD(parameters=parameters)", "SGD(0.1, parameters, multi_precision=True)", "Momentum(parameters=parameters)", "Momentum(0.1, 0.5, parameters, True, rescale_grad=0.5)",
            "Momentum(0.1, parameters=parameters, multi_precision=True)", "Adagrad(0.1, 1e-3, parameters, initial_accumulator_value=0.5)",
            "Adadelta(parameters=parameters)", "Adadelta(0.5, 1e-3, 0.8, parameters)", "Adam(parameters=parameters)", "Adam(0.05, 0.8, 0.95, 1e-4, parameters)",
            "Adam(0.05, parameters=parameters, lazy_mode=True)", "Adam(0.05, parameters=parameters, multi_precision=True)",
            "Adam(0.05, beta1=paddle.to_tensor([0.8]), beta2=paddle.to_tensor([0.95]), parameters=parameters)", "AdamW(parameters=parameters)", "AdamW(0.05, 0.8, 0.95, 1e-4, parameters, 0.2)",
            "AdamW(0.05, parameters=parameters, apply_decay_param_fun=lambda name: 'w_0' in name, weight_decay=0.3)", "AdamW(0.05, parameters=parameters, lr_ratio=lambda p: 0.5 if 'b_0' in p.name else 1.0)",
            "AdamW(0.05, parameters=parameters, lazy_mode=True)", "AdamW(0.05, parameters=parameters, multi_precision=True)", "Adamax(0.05, 0.8, 0.95, 1e-4, parameters)", "Adamax(parameters=parameters)",
            "RMSProp(0.05, 0.8, 1e-3, 0.5, False, parameters)", "RMSProp(0.05, centered=True, parameters=parameters)", "Lamb(parameters=parameters)", "Lamb(0.05, 0.1, 0.8, 0.95, 1e-4, parameters)",
            "Lamb(0.05, parameters=parameters, exclude_from_weight_decay_fn=lambda p: 'b_0' in p.name, lamb_weight_decay=0.3)", "Lamb(0.05, parameters=parameters, always_adapt=True)",
            "Lamb(0.05, parameters=parameters, multi_precision=True)"):
    optimizer(how)
optimizer("Adam(0.05, parameters=parameters, lazy_mode=True)", sparse=True)
optimizer("Adam(rate, parameters=parameters)", "rate = paddle.to_tensor(0.1)")
optimizer("SGD(0.1, parameters=parameters, weight_decay=0.1)", "net.first.weight.stop_gradient = True")
optimizer("SGD(0.1, parameters=net.second.parameters())")
optimizer("Momentum(0.1, parameters=parameters, use_multi_tensor=True)", dtypes=("float32",))
optimizer("Adam(0.05, parameters=parameters, use_multi_tensor=True)", dtypes=("float32",))
# Wrong arguments.
for how in ("SGD('x', parameters=parameters)", "SGD(None, parameters=parameters)", "SGD(0.1)", "SGD(0.1, parameters=net.first.weight)", "SGD(0.1, parameters=[])", "SGD(0.1, parameters=parameters, weight_decay='x')",
            "SGD(0.1, parameters=parameters, grad_clip='x')", "SGD(0.1, parameters=parameters, grad_clip=0.5)", "Momentum(0.1, None, parameters)", "Adam(0.1, beta1=1.0, parameters=parameters)", "Adam(0.1, beta1=-0.1, parameters=parameters)",
            "Adam(0.1, beta2=None, parameters=parameters)", "Adam(0.1, beta2=1.5, parameters=parameters)", "Adam(0.1, epsilon=None, parameters=parameters)", "Adam(0.1, epsilon=-1.0, parameters=parameters)",
            "AdamW(0.1, beta1=2.0, parameters=parameters)", "AdamW(0.1, parameters=parameters, weight_decay=paddle.regularizer.L2Decay(0.1))", "AdamW(0.1, parameters=parameters, apply_decay_param_fun=3)",
            "AdamW(0.1, parameters=parameters, lr_ratio=3)", "Adamax(0.1, beta1=1.0, parameters=parameters)", "Adamax(0.1, epsilon=None, parameters=parameters)", "Adagrad(None, parameters=parameters)",
            "Adagrad(0.1, epsilon=None, parameters=parameters)", "Adadelta(None, parameters=parameters)", "Adadelta(0.1, rho=None, parameters=parameters)", "RMSProp(None, parameters=parameters)",
            "RMSProp(0.1, rho=None, parameters=parameters)", "RMSProp(0.1, rho=-0.1, parameters=parameters)", "RMSProp(0.1, momentum=-1.0, parameters=parameters)", "RMSProp(0.1, epsilon=-1.0, parameters=parameters)",
            "Lamb(None, parameters=parameters)", "Lamb(0.1, parameters=[{'params': net.first.parameters(), 'weight_decay': 0.1}])", "SGD(0.1, parameters=[{'params': parameters}, {'params': parameters}])",
            "SGD(0.1, parameters=[{'nothing': parameters}])", "SGD(0.1, parameters=[3])", "SGD(0.1, parameters=parameters, nonesuch=1)", "Lamb(0.1, lamb_weight_decay=None, parameters=parameters)",
            "Momentum(0.1, 'x', parameters)", "Adam(0.1, parameters=(p for p in parameters))", "SGD(0.1, {'params': parameters})", "Adam(0.1, parameters=parameters, weight_decay=1)"):
    optimizer(how, dtypes=("float32",))

# Schedulers.
for how in ("NoamDecay(64, 5)", "NoamDecay(d_model=64, warmup_steps=5, learning_rate=2.0, last_epoch=3)", "NoamDecay(64, 0)",
            "PiecewiseDecay([3, 6, 20], [0.1, 0.05, 0.01, 0.001])", "PiecewiseDecay(boundaries=[5], values=[1, 0.5], last_epoch=2)", "PiecewiseDecay([3, 6], [0.1, 0.05])", "PiecewiseDecay([], [0.1])",
            "NaturalExpDecay(0.5, 0.1)", "NaturalExpDecay(learning_rate=0.5, gamma=0.2, last_epoch=4)", "InverseTimeDecay(0.5, 0.1)", "InverseTimeDecay(0.5, gamma=0.3, last_epoch=1)",
            "PolynomialDecay(0.5, 10)", "PolynomialDecay(0.5, 10, 0.01, 2.0)", "PolynomialDecay(0.5, decay_steps=7, end_lr=0.1, power=0.5, cycle=True)", "PolynomialDecay(0.5, 10, last_epoch=5)", "PolynomialDecay(0.5, 0)",
            "PolynomialDecay(0.5, 10, power=0)", "PolynomialDecay(0.5, 2.5)",
            "LinearWarmup(0.5, 10, 0.0, 0.5)", "LinearWarmup(0.5, 5, 0.1, 0.3)", "LinearWarmup(lr.StepDecay(0.5, 4), 6, 0.0, 0.5)", "LinearWarmup(lr.NoamDecay(64, 5), warmup_steps=3, start_lr=0.01, end_lr=0.2, last_epoch=2)",
            "LinearWarmup(lr.ReduceOnPlateau(0.5, patience=1), 3, 0.0, 0.5)", "LinearWarmup(0.5, 10, 0.5, 0.1)", "LinearWarmup('x', 10, 0.0, 0.5)", "LinearWarmup(0.5, 0, 0.0, 0.5)", "LinearWarmup(1, 10, 0, 1)",
            "ExponentialDecay(0.5, 0.9)", "ExponentialDecay(0.5, gamma=0.5, last_epoch=3)", "ExponentialDecay(0.5, 1.5)", "ExponentialDecay(0.5, 0.0)", "MultiStepDecay(0.5, [3, 7, 15])",
            "MultiStepDecay(0.5, milestones=(2, 4), gamma=0.3, last_epoch=1)", "MultiStepDecay(0.5, [7, 3])", "MultiStepDecay(0.5, 3)", "MultiStepDecay(0.5, [3], gamma=2.0)", "StepDecay(0.5, 4)", "StepDecay(0.5, step_size=3, gamma=0.7, last_epoch=2)",
            "StepDecay(0.5, 4.0)", "StepDecay(0.5, 4, 1.5)", "StepDecay(0.5, 0)", "LambdaDecay(0.5, lambda e: 0.9 ** e)", "LambdaDecay(0.5, lr_lambda=lambda e: 1 / (1 + e), last_epoch=4)", "LambdaDecay(0.5, 3)",
            "MultiplicativeDecay(0.5, lambda e: 0.95)", "MultiplicativeDecay(0.5, lambda e: 0.9 if e % 2 else 1.0, last_epoch=3)", "MultiplicativeDecay(0.5, 'x')", "CosineAnnealingDecay(0.5, 10)",
            "CosineAnnealingDecay(0.5, T_max=7, eta_min=0.1, last_epoch=2)", "CosineAnnealingDecay(0.5, 5.0)", "CosineAnnealingDecay(0.5, 0)", "CosineAnnealingDecay('x', 5)",
            "OneCycleLR(1.0, 30)", "OneCycleLR(max_learning_rate=1.0, total_steps=40, divide_factor=10.0, end_learning_rate=0.01, phase_pct=0.4, anneal_strategy='linear')", "OneCycleLR(1.0, 40, three_phase=True, phase_pct=0.3)", "OneCycleLR(1.0, 10)",
            "OneCycleLR(1.0, 30, anneal_strategy='x')", "OneCycleLR(1.0, -1)", "CyclicLR(0.1, 1.0, 5)", "CyclicLR(0.1, 1.0, step_size_up=4, step_size_down=2, mode='triangular2')",
            "CyclicLR(0.1, 1.0, 5, mode='exp_range', exp_gamma=0.9)", "CyclicLR(0.1, 1.0, 5, scale_fn=lambda x: 0.5, scale_mode='iterations')", "CyclicLR(0.1, 1.0, 0)", "CyclicLR(0.1, 1.0, 5, mode='x')",
            "LinearLR(0.5, 10)", "LinearLR(0.5, total_steps=10, start_factor=0.5, end_factor=0.1)", "LinearLR(0.5, 10, start_factor=2.0)", "LinearLR(0.5, 0)", "CosineAnnealingWarmRestarts(0.5, 7)",
            "CosineAnnealingWarmRestarts(0.5, T_0=4, T_mult=2, eta_min=0.05)", "CosineAnnealingWarmRestarts(0.5, 0)", "LRScheduler(0.5)", "StepDecay('x', 3)", "StepDecay(1, 3)"):
    scheduler(how)
    if "x'" not in how:
        scheduler(how, "s.step(2 * i)")
for how in ("ReduceOnPlateau(0.5)", "ReduceOnPlateau(0.5, patience=2)", "ReduceOnPlateau(0.5, 'max', 0.5, 1)", "ReduceOnPlateau(0.5, mode='min', factor=0.3, patience=1, threshold=0.1, threshold_mode='abs', cooldown=2)",
            "ReduceOnPlateau(0.5, patience=0, min_lr=0.2)", "ReduceOnPlateau(0.5, patience=1, epsilon=0.2)"):
    for metrics in ("1.0 / (i + 1)", "1.0", "float(i % 5)", "paddle.to_tensor(0.5)", "paddle.to_tensor([0.5])", "np.array([0.5 + i])", "'x'", "None", "paddle.ones([2])"):
        scheduler(how, f"s.step({metrics})")
    scheduler(how, "s.step(1.0, epoch=3 * i)")
for how in ("ReduceOnPlateau(0.5, 'x')", "ReduceOnPlateau(0.5, factor=1.0)", "ReduceOnPlateau(0.5, threshold_mode='x')", "ReduceOnPlateau('x')"):
    scheduler(how, "s.step(1.0)")
scheduler("StepDecay(0.5, 4, verbose=True)")
scheduler("LinearWarmup(lr.StepDecay(0.5, 4), 6, 0.0, 0.5, verbose=True)")
scheduler("ReduceOnPlateau(0.5, patience=1, verbose=True)", "s.step(1.0)")
