package simulator

import (
	"slices"
)

// ruleCheck is one reason why a rule cannot be kept beside the other rules that are enabled; empty if it can.
type ruleCheck func(s *Server, r *haRule, others []*haRule) string

// ruleChecks are asked of a rule in this order. All concern the property "resources".
var ruleChecks = map[string][]ruleCheck{
	nodeAffinity:     {usedTwice},
	resourceAffinity: {tooFewResources, tooManyResources, contradiction, severalPriorities, tooFewNodes},
}

// infeasible returns why a rule cannot be kept: property -> texts.
func (s *Server) infeasible(r *haRule) map[string][]string {
	var others []*haRule
	for _, o := range s.ha.rules {
		if o.id != r.id && !o.disabled {
			others = append(others, o)
		}
	}
	errs := map[string][]string{}
	for _, check := range ruleChecks[r.kind] {
		if text := check(s, r, others); text != "" {
			errs["resources"] = append(errs["resources"], text)
		}
	}
	return errs
}

func usedTwice(_ *Server, r *haRule, others []*haRule) string {
	for _, sid := range r.resources {
		if nodeRule(others, sid) != nil {
			return "resource '" + sid + "' is already used in another node affinity rule"
		}
	}
	return ""
}

// nodeRule is the node affinity of a resource.
func nodeRule(rules []*haRule, sid string) *haRule {
	for _, o := range rules {
		if o.kind == nodeAffinity && slices.Contains(o.resources, sid) {
			return o
		}
	}
	return nil
}

func tooFewResources(_ *Server, r *haRule, _ []*haRule) string {
	if len(r.resources) < 2 {
		return "rule is ineffective as there are less than two resources"
	}
	return ""
}

func tooManyResources(s *Server, r *haRule, _ []*haRule) string {
	if r.negative && len(r.resources) > len(s.nodes) {
		return "rule defines more resources than available nodes"
	}
	return ""
}

func contradiction(_ *Server, r *haRule, others []*haRule) string {
	for _, o := range others {
		if o.kind != resourceAffinity || o.negative == r.negative {
			continue
		}
		shared := 0
		for _, sid := range r.resources {
			shared += bit(slices.Contains(o.resources, sid))
		}
		if shared >= 2 {
			return "rule shares two or more resources with a " + map[bool]string{true: "negative", false: "positive"}[o.negative] + " resource affinity rule"
		}
	}
	return ""
}

func severalPriorities(_ *Server, r *haRule, others []*haRule) string {
	for _, sid := range r.resources {
		o := nodeRule(others, sid)
		if o == nil {
			continue
		}
		distinct := map[int]bool{}
		for _, p := range o.nodes {
			distinct[p] = true
		}
		if len(distinct) > 1 {
			return "resources are in node affinity rules with multiple priorities"
		}
	}
	return ""
}

// tooFewNodes: resources that must be apart but are confined to fewer nodes than there are of them.
func tooFewNodes(_ *Server, r *haRule, others []*haRule) string {
	if !r.negative {
		return ""
	}
	confined, nodes := 0, map[string]bool{}
	for _, sid := range r.resources {
		if o := nodeRule(others, sid); o != nil && o.strict {
			confined++
			for n := range o.nodes {
				nodes[n] = true
			}
		}
	}
	if confined > 1 && confined > len(nodes) {
		return "two or more resources are restricted to less nodes than available to the resources"
	}
	return ""
}
