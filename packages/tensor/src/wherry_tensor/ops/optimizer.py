"""Parameter updates, each one pass over memory.

Outputs may be the memory of the inputs they replace: `ops.sgd.into((param,), param, grad, lr)`.
lr and the beta powers are tensors of one element, so that a schedule does not make a new op.
"""
from wherry_tensor.ops.declare import op

sgd = op("sgd", "param, grad, lr", weight_decay=float, outputs="param_out")
momentum = op("momentum", "param, velocity, grad, lr", mu=float, nesterov=bool, weight_decay=float,
              outputs="param_out, velocity_out")
# beta1_power and beta2_power hold beta ** t for the step being made; weight_decay is L2 (added to grad).
adam = op("adam", "param, moment1, moment2, beta1_power, beta2_power, grad, lr", beta1=float, beta2=float,
          epsilon=float, weight_decay=float,
          outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out")
# weight_decay is decoupled: param *= 1 - lr * weight_decay before the update.
adamw = op("adamw", "param, moment1, moment2, beta1_power, beta2_power, grad, lr", beta1=float, beta2=float,
           epsilon=float, weight_decay=float,
           outputs="param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(sgd))]
