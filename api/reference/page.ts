// Makes the HTML of the reference page: Swagger UI over openapi.json, without any other host.

/** Scripts and styles are files of this node; nothing is inline, evaluated or from elsewhere. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Swagger UI has small pictures in its style sheet, as data URLs.
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** @param assets path of the page's files, with the final slash */
export function pageOf(assets: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>gslbd API</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}swagger-ui.css">
<link rel="stylesheet" href="${assets}page.css">
</head>
<body>
<noscript>This page needs JavaScript. The same is in
<a href="/api/v1/openapi.json">openapi.json</a>.</noscript>
<main id="reference">Loading the reference…</main>
<script src="${assets}swagger-ui-bundle.js"></script>
<script src="${assets}page.js"></script>
</body>
</html>
`
}
