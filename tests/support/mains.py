"""Sub-commands, as tests call them within this process."""

from dgsuite.base.command import CommandLine

gap = CommandLine("dgsuite.faces.cli.gap:gap", "dgsuite gap")
graph500 = CommandLine("dgsuite.faces.cli.graph500:graph500", "dgsuite graph500")
graphalytics = CommandLine("dgsuite.faces.cli.graphalytics:graphalytics", "dgsuite graphalytics")
report = CommandLine("dgsuite.faces.cli.report:report", "dgsuite report")
scaling = CommandLine("dgsuite.faces.cli.scaling:scaling", "dgsuite scaling")
scc = CommandLine("dgsuite.faces.cli.scc:scc", "dgsuite scc")
statics = CommandLine("dgsuite.faces.cli.statics:statics", "dgsuite statics")
transports = CommandLine("dgsuite.faces.cli.app:transports", "dgsuite transports")
