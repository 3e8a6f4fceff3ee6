// To send a file and say how much of it is there: fetch does not tell, so a request goes by XMLHttpRequest.

/** telling is a fetch that tells which part of a request has been sent, from 0 to 1. */
export function telling(progress: (part: number) => void): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = await request.blob();
    return new Promise((done, failed) => {
      const sent = new XMLHttpRequest();
      sent.open(request.method, request.url);
      request.headers.forEach((value, name) => sent.setRequestHeader(name, value));
      sent.responseType = 'text';
      sent.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
      sent.onerror = sent.onabort = () => failed(new TypeError('the request did not arrive'));
      sent.onload = () => {
        const headers = sent.getAllResponseHeaders().trim().split('\r\n').map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
        done(new Response(sent.responseText, { status: sent.status, headers }));
      };
      sent.send(body);
    });
  };
}

/** formOf makes the form of a request whose part `file` is a file. */
export function formOf(file: File, fields: Record<string, string> = {}) {
  return () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', file);
    return form;
  };
}
