// The kernels of loss: ops, dtypes, flags. Included once by each device, after the functions that are named here.
constexpr uint32_t flags = WRY_WANTS_CONTIGUOUS, in_its_place = WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS;

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("nll_loss", flags, nll_loss),
    WRY_FLOAT_ROWS("nll_loss_vjp", flags, nll_loss_vjp),
    WRY_FLOAT_ROWS("label_mean", flags, label_mean),
    WRY_FLOAT_ROWS("label_mean_vjp", flags, label_mean_vjp),
    WRY_FLOAT_ROWS("binary_cross_entropy", in_its_place, binary_cross_entropy),
    WRY_FLOAT_ROWS("binary_cross_entropy_vjp", in_its_place, binary_cross_entropy_vjp),
    WRY_FLOAT_ROWS("binary_cross_entropy_logits", in_its_place, binary_cross_entropy_logits),
    WRY_FLOAT_ROWS("binary_cross_entropy_logits_vjp", in_its_place, binary_cross_entropy_logits_vjp),
    WRY_FLOAT_ROWS("smooth_l1_loss", in_its_place, smooth_l1_loss),
    WRY_FLOAT_ROWS("smooth_l1_loss_vjp", in_its_place, smooth_l1_loss_vjp),
    WRY_FLOAT_ROWS("kl_div", in_its_place, kl_div),
#ifdef LOSS_ROWS  // the device's own
    LOSS_ROWS
#endif
};
