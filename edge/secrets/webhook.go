package secrets

// webhookPrefix begins the signing secrets of webhook endpoints.
const webhookPrefix = "whsec_"

// hintSize is how many characters of a signing secret are shown later on: enough
// to tell two apart.
const hintSize = 4

// NewWebhookSecret draws the signing secret of a webhook endpoint, 256 random bits
// in base 62. The hint is the part of it that is no secret.
func NewWebhookSecret() (secret, hint string) {
	secret = webhookPrefix + base62(randomBelow(keySecrets), keySecret)
	return secret, secret[:len(webhookPrefix)+hintSize]
}
