"""Claims about attention, each measured: prose in Markdown, a module beside it, and a record of a run of both."""
