"""Wherry in the browser: the pages, what they load, and predictions on the server.

    python -m wherry serve

`create_app(Config(...))` is the Flask application for any WSGI server.
"""
from wherry_web.app import create_app
from wherry_web.config import Config
from wherry_web.gallery import Gallery, save_model

__all__ = ["Config", "Gallery", "create_app", "save_model"]
__version__ = "0.15.0"
