package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	partBytes = 64 << 20 // bytes of a part; an object of S3 has at most 10,000 parts
	attempts  = 3        // how often a request that fails for a passing reason is tried
)

// S3 stores files in a bucket of an S3-compatible store.
type S3 struct {
	core   minio.Core
	bucket string
}

// OpenS3 reads an address such as s3://bucket?endpoint=https://host:9000&region=eu-west-1 without
// asking the store anything yet. Without an endpoint the store is AWS's. The credentials are the address's
// user and password, percent-encoded, or else those that AWS's own programs would find: the
// variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role of the machine. No error
// contains them.
func OpenS3(address string) (*S3, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Path != "" {
		return nil, errors.New("must be s3://bucket?endpoint=https://host&region=name, with credentials percent-encoded") // what the parser says may quote the password
	}
	for name := range u.Query() {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("has no parameter %q", name)
		}
	}
	endpoint := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}
	if text := u.Query().Get("endpoint"); text != "" {
		endpoint, err = url.Parse(text)
		if err != nil || endpoint.Scheme != "https" && endpoint.Scheme != "http" || endpoint.Host == "" || endpoint.User != nil {
			return nil, errors.New("has an endpoint that is not like https://host:9000")
		}
	}
	core, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds: credentialsOf(u), Secure: endpoint.Scheme == "https", Region: u.Query().Get("region"), MaxRetries: attempts,
	})
	if err != nil {
		return nil, err
	}
	return &S3{*core, u.Host}, nil
}

// credentialsOf returns the credentials in the address, or the chain of AWS's own places if it has none.
func credentialsOf(u *url.URL) *credentials.Credentials {
	if secret, ok := u.User.Password(); ok {
		return credentials.NewStaticV4(u.User.Username(), secret, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{new(credentials.EnvAWS), new(credentials.IAM)})
}

// Check returns an error unless the bucket exists and our credentials open it.
func (s *S3) Check(ctx context.Context) error {
	found, err := s.core.BucketExists(ctx, s.bucket)
	if err == nil && !found {
		err = errors.New("no such bucket")
	}
	if err != nil {
		return fmt.Errorf("bucket %s: %w", s.bucket, err)
	}
	return nil
}

// Put sends the file. A file larger than partBytes is sent in parts; the object appears only when all of them
// have arrived.
func (s *S3) Put(ctx context.Context, key, path, mediaType string) error {
	_, err := s.core.FPutObject(ctx, s.bucket, key, path, minio.PutObjectOptions{ContentType: mediaType, PartSize: partBytes, NumThreads: 1})
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// Open reads a range of the object under the key, as it arrives. For an empty range it does not ask the store,
// not even whether there is such an object.
func (s *S3) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	var options minio.GetObjectOptions
	if length == 0 {
		return http.NoBody, nil // HTTP can't ask for an empty range
	}
	if err := options.SetRange(offset, offset+length-1); err != nil {
		return nil, fmt.Errorf("open %s: %w", key, err)
	}
	body, _, _, err := s.core.GetObject(ctx, s.bucket, key, options)
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", key, err)
	}
	return body, nil
}

// Delete removes the object under the key, and parts of a Put that a crash has cut off.
func (s *S3) Delete(ctx context.Context, key string) error {
	err := s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{})
	if err == nil {
		err = s.core.RemoveIncompleteUpload(ctx, s.bucket, key)
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}
