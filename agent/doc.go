// Package agent joins the agent's parts into one process: which commit is in force (source), what has to happen so
// that the management cluster is what it says (sync, apply, allocation), and how each cluster stands (status). It
// holds the verb, the wiring and the metrics, and decides nothing itself.
package agent
