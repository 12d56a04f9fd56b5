"""Stub of wherry.fft, written by tools/stubs.py: where each public name comes from."""
from wherry_tensor.functions.fft import fft as fft
from wherry_tensor.functions.fft import fft2 as fft2
from wherry_tensor.functions.fft import fftfreq as fftfreq
from wherry_tensor.functions.fft import fftn as fftn
from wherry_tensor.functions.fft import fftshift as fftshift
from wherry_tensor.functions.fft import hfft as hfft
from wherry_tensor.functions.fft import hfft2 as hfft2
from wherry_tensor.functions.fft import hfftn as hfftn
from wherry_tensor.functions.fft import ifft as ifft
from wherry_tensor.functions.fft import ifft2 as ifft2
from wherry_tensor.functions.fft import ifftn as ifftn
from wherry_tensor.functions.fft import ifftshift as ifftshift
from wherry_tensor.functions.fft import ihfft as ihfft
from wherry_tensor.functions.fft import ihfft2 as ihfft2
from wherry_tensor.functions.fft import ihfftn as ihfftn
from wherry_tensor.functions.fft import irfft as irfft
from wherry_tensor.functions.fft import irfft2 as irfft2
from wherry_tensor.functions.fft import irfftn as irfftn
from wherry_tensor.functions.fft import rfft as rfft
from wherry_tensor.functions.fft import rfft2 as rfft2
from wherry_tensor.functions.fft import rfftfreq as rfftfreq
from wherry_tensor.functions.fft import rfftn as rfftn
__all__: list[str]
