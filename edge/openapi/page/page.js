"use strict";

// What is tried goes to the server that served this page: it is the only one
// that the page may talk to, under whichever of its names it was opened.
fetch("/api/v1/openapi.json")
  .then((answer) => answer.json())
  .then((spec) => {
    spec.servers = [{ url: location.origin }];
    SwaggerUIBundle({
      spec,
      dom_id: "#ui",
      deepLinking: true,
      docExpansion: "none",
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      showExtensions: true,
      tryItOutEnabled: true,
      validatorUrl: null,
    });
  });
