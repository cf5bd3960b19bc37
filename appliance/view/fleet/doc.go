// Package fleet answers: what is shown of the platform? What there is to choose from, how full networks are, and how far the agent is. It is pure.
package fleet
