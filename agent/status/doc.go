// Package status answers one question: how does this cluster stand, in one plain sentence?
//
// Compute is a pure function of what Git says, of the live Cluster API objects and of what stopped the agent;
// it calls nothing and knows no clock but the one it is given. Its rules are an ordered list (rules.go): the
// first that applies decides phase and sentence.
package status
