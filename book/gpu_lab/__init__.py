"""The lab of chapter 7: a training program to run and to read, one file for each idea.

`data` makes the task; `models` are the ones it is tried with; `train` trains one; `checkpoints` stops and goes on;
`parallel` uses several processes; `compare` trains all models and counts what they get right; `measure` asks how
fast, how large and how well a device is used. Each can be run: `python -m gpu_lab.train --help`.
"""
