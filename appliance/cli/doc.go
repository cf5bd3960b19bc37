// Package cli answers: how does somebody work with clusters from a terminal? Each verb is a call of the appliance's API, so that it may do what the page
// may, and says what the page says.
package cli
