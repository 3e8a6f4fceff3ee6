package secrets

// webhookPrefix begins the signing secrets of webhook endpoints.
const webhookPrefix = "whsec_"

// hintSize is how many characters after the prefix of a signing secret its owner sees later, to tell two
// secrets apart.
const hintSize = 4

// NewWebhookSecret draws the signing secret of a webhook endpoint: whsec_ and 256 random bits in base 62. The
// hint is the beginning of the secret, which may be shown again later.
func NewWebhookSecret() (secret, hint string) {
	secret = webhookPrefix + base62(randomBelow(keySecrets), keySecret)
	return secret, secret[:len(webhookPrefix)+hintSize]
}
