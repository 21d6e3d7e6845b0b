"""A prediction as a sum: what each block, head and neuron adds to it.

Imports changes, data, questions, show, trace and views.
Begin with `residual_stream.py`, then `machine.py`.
"""
