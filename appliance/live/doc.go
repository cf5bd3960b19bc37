// Package live answers: what does the management cluster say of the clusters right now? It watches claims, the Fleet, Cluster API's objects and their
// events with an account that may only read, and keeps of each what is shown. While the management cluster does not answer, what was last known stays,
// and since when it is old is told.
package live
