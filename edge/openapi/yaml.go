package openapi

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// yamlOf writes a JSON text as YAML, with the members in the same order. It goes through
// the nodes of a YAML document, because a Go map would lose the order.
func yamlOf(doc []byte) ([]byte, error) {
	var n yaml.Node // the YAML parser can read JSON, because JSON is YAML in flow style
	if err := yaml.Unmarshal(doc, &n); err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	chooseStyles(&n)
	text, err := yaml.Marshal(&n)
	if err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	return text, nil
}

// chooseStyles lets the YAML writer choose the styles: blocks, and quotes only around texts that
// could be read as something else.
func chooseStyles(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		chooseStyles(child)
	}
}
