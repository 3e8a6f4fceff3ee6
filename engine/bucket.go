package engine

// Buckets is how many shares the events are divided into. All actors of an event are in one bucket, and so are
// the wallets and promo codes of an organization: one node owns them, and one database has their facts.
const Buckets = 1024

// BucketOf returns the bucket, from 0 to Buckets-1, of all actors whose Ref has this Home.
func BucketOf(home int64) int {
	return int(MixBits(uint64(home)) % Buckets) //nolint:gosec // spreads negative ones as well
}

// MixBits spreads a number over 64 bits (the finalizer of splitmix64).
func MixBits(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
