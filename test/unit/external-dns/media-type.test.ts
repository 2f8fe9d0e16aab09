import { expect, test } from 'vitest'
import { isAcceptable, mediaTypeForm } from '#external-dns/media-type.ts'

const own = 'application/external.dns.webhook+json'

test.each([
  [undefined, true],
  ['', true],
  [`${own};version=1`, true],
  [`${own}; version="1"`, true],
  [own, true],
  ['*/*', true],
  ['text/html, application/*;q=0.8', true],
  [`${own};version=2`, false],
  [`${own};version=2, ${own};version=1`, true],
  [`${own};version=1;q=0`, false],
  ['application/json', false],
  ['text/html', false],
])('Accept: %s is taken: %s', (accept, isTaken) => {
  expect(isAcceptable(accept)).toBe(isTaken)
})

test.each([
  [`${own};version=1`, true],
  [`${own}; version="1"; charset=utf-8`, true],
  [own, false],
  [`${own};version=2`, false],
  [`${own};version=10`, false],
  ['application/json', false],
])('Content-Type: %s is taken: %s', (type, isTaken) => {
  expect(mediaTypeForm.test(type)).toBe(isTaken)
})
