package told

import "encoding/json"

// Unseal is the payload of a fact from the column data of its row.
func Unseal(v Vault, id string, sealed []byte) (json.RawMessage, error) {
	return v.Open(label, []byte(id), sealed)
}
