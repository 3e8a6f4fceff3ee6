package main

import (
	"errors"
	"strings"
)

// developer says how commands for developers who build on the API reach a service.
type developer struct {
	Server string `env:"BOXOFFICE_SERVER" default:"http://127.0.0.1:8080" help:"Address of the service."`
	Key    string `env:"BOXOFFICE_KEY" help:"API key of a test organization: listen needs the scope webhooks:manage, trigger all scopes."`
}

// testKey begins the keys of test organizations, whose facts are not secret.
const testKey = "vt_test_"

// open returns a client with the key. It refuses the key of a live organization, because what its
// buyers do must not be shown on a terminal, and what a trigger makes must not appear in a shop.
func (d *developer) open() (*apiClient, error) {
	switch {
	case d.Key == "":
		return nil, errors.New("there is no API key: name one by --key or BOXOFFICE_KEY (README.md, Develop against it)")
	case !strings.HasPrefix(d.Key, testKey):
		return nil, errors.New("the API key is not one of a test organization: those begin with " + testKey)
	}
	return &apiClient{url: d.root() + "/api/v1", bearer: d.Key}, nil
}

// root returns the address of the service without the path of its API.
func (d *developer) root() string {
	return strings.TrimSuffix(strings.TrimSuffix(d.Server, "/"), "/api/v1")
}
