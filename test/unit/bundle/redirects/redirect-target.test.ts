// The target of a redirect as the header of the answer has it.
import { expect, test } from 'vitest'
import { headerTarget } from '#bundle/redirects/redirect-target.ts'

test.each([
  ['https://www.example.com./a.', 'https://www.example.com/a.'],
  ['https://www.example.com.', 'https://www.example.com'],
  ['http://www.example.com.:8080?q=a.', 'http://www.example.com:8080?q=a.'],
  ['https://www.example.com/a./', 'https://www.example.com/a./'],
  ['https://192.0.2.1/', 'https://192.0.2.1/'],
])('the header of %s is %s: a host has no final dot', (target, header) => {
  expect(headerTarget(target)).toBe(header)
})
