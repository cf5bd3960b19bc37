// Package providers answers: which of Cluster API's providers have to run?
//
// A distribution's bootstrap and control-plane providers take about 50 MiB each, whether there is a cluster of it or
// not. So they run only while a cluster uses it. Before a class's objects are applied the providers are scaled up, and
// have to serve, since their webhooks admit the objects; after the last cluster the class's objects go first, and the
// providers then. All that this package may do to them is change their number, through the subresource "scale".
package providers
