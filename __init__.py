"""The checkout is a portion of the package `seq2see`: `..lens` in serve/ is the folder lens/.

No wheel holds this file.  It tells tools that read imports without running them, and Python where the folder above is
on its path and the checkout is named seq2see, so that this is the package.
"""

if __package__:  # a folder whose name is no word of Python's, such as seq2see-main, is no package
    from .seq2see import __all__, __dir__, __getattr__, __path__, __version__  # noqa: F401
