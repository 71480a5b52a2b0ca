# Policies over the JSON of `kubectl release plan … -o json`, for conftest:
#
#	kubectl release plan web ./chart -o json > plan.json
#	conftest test --policy docs/policy plan.json
package main

import rego.v1

steps contains step if {
	some stage in input.stages
	some wave in stage.waves
	some step in wave.steps
}

# Nobody takes a volume claim away: its data go with it.
deny contains msg if {
	some step in steps
	step.risk == "data" # a hook's own claim is no loss
	step.object.kind == "PersistentVolumeClaim"
	msg := sprintf("%s of PersistentVolumeClaim %s/%s: %s", [step.op, step.object.namespace, step.object.name, step.why])
}

# Reviewers look at what scales down.
warn contains msg if {
	some step in steps
	step.risk == "scale-down"
	msg := sprintf("%s %s/%s scales down", [step.object.kind, step.object.namespace, step.object.name])
}
