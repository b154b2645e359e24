"""Studies: experiments, reports, models of scaling, the SCC, and the programs that they measure."""
