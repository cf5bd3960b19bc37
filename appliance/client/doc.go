// Package client answers: how does a program ask the appliance? It is the typed side of the JSON API, and keeps a session between calls.
package client
