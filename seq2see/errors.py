"""The one kind of error that is the user's to mend."""


class UserError(ValueError):
    """A wrong key, file, language, checkpoint or text.

    The message is one line that says what is wrong, where, and how to mend it.  The command line prints it to stderr
    and exits with `exit_code`: 1 where the work failed, 2 where the command was used wrongly.
    """

    def __init__(self, message: str, *, exit_code: int = 1):
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code
