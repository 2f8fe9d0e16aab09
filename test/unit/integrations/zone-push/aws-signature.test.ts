// Signature Version 4 against the vectors that AWS publishes.
import { expect, test } from 'vitest'
import { awsHeaders } from '#integrations/zone-push/aws-signature.ts'
import { awsTestKey } from '#test/support/zone-push/route53-stand-in.ts'

const nowMs = Date.UTC(2015, 7, 30, 12, 36)

test.each([
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    ...(['get-vanilla-query-order-key-case', 'GET', '/?Param2=value2&Param1=value1'] as const),
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
])('%s', async (_, method, path, signature) => {
  const url = new URL(`https://example.amazonaws.com${path}`)
  const asked = { method, url, body: '', region: 'us-east-1', service: 'service', nowMs }
  expect(await awsHeaders(awsTestKey, asked)).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
      `SignedHeaders=host;x-amz-date, Signature=${signature}`,
  })
})
