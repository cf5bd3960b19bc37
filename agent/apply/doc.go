// Package apply answers one question: is this live object what Git says, and if not, who changed what?
//
// It applies by server-side apply with controller-runtime's client, one call an object, and not with
// fluxcd/pkg/ssa: that package asks the API server for a dry run of each object before each apply, which doubles
// the calls of a change and makes 1,000 unchanged clusters cost 1,000 calls. A dry run is not needed, because the
// API server already keeps the answer in metadata.managedFields: a foreign write to a field takes the field away
// from our manager (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management). So an
// object is as we left it exactly while our manager's set of fields is; the fields that are missing from the set
// are the drift, and the managers that hold them now are who did it.
package apply
