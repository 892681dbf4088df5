"""Each rival is one command: given folders of runs, it prints a line ``RUN<tab>QUESTION`` for each thing it claims."""
