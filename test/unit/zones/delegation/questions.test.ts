import { expect, test } from 'vitest'
import { RrType } from '#dns/rrtype.ts'
import { delegationLimits } from '#zones/delegation/limits.ts'
import { Questions } from '#zones/delegation/questions.ts'
import { FakeTime } from '#test/support/fake-time.ts'

/** Addresses that a parent may give for a server. */
const internal = [
  '10.0.0.1',
  '100.64.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '192.0.2.1',
  '168.63.129.16',
  'fd00::1',
  '2001:db8::1',
  '64:ff9b::10.0.0.1',
  '2002:a00:1::1',
]
const local = ['127.0.0.1', '::1', '169.254.169.254', 'fe80::1']
const never = ['0.0.0.0', '::', '224.0.0.1', 'ff02::1', '240.0.0.1', '::ffff:10.0.0.1']

/** Questions whose time is over when they are asked: nothing is sent to any server. */
function questions(parts: Partial<ConstructorParameters<typeof Questions>[0]> = {}): Questions {
  const time = new FakeTime(0)
  const may = { allowLocal: false, allowPrivate: false, own: [] }
  const asker = new Questions({ ...may, port: 53, askMs: 50, clock: time.clock, ...parts })
  time.pass(delegationLimits.checkMs)
  return asker
}

async function codeOf(asker: Questions, address: string): Promise<string> {
  const asked = await asker.ask(address, 'example.org.', RrType.NS)
  return asked.ok ? 'asked' : asked.error.code
}

test.each([...internal, ...local, ...never])('%s is not asked by default', async (address) => {
  const asked = await questions().ask(address, 'example.org.', RrType.NS)
  expect(asked).toMatchObject({ ok: false, error: { code: 'address-refused' } })
  expect(!asked.ok && asked.error.why).toContain(`${address}, which is not asked`)
})

test('only addresses that the settings permit are asked', async () => {
  for (const address of ['127.0.0.1', '127.9.9.9']) {
    expect(await codeOf(questions({ allowLocal: true }), address)).toBe('no-answer')
    expect(await codeOf(questions({ allowPrivate: true }), address)).toBe('address-refused')
  }
  for (const address of internal) {
    expect(await codeOf(questions({ allowLocal: true }), address)).toBe('address-refused')
    expect(await codeOf(questions({ allowPrivate: true }), address)).toBe('no-answer')
  }
  expect(await codeOf(questions(), '198.41.0.4')).toBe('no-answer')
  for (const address of never) {
    const every = questions({ allowLocal: true, allowPrivate: true, own: never })
    expect(await codeOf(every, address)).toBe('address-refused')
  }
})

test('addresses of our own name servers are asked though they are private', async () => {
  const own = questions({ own: ['192.0.2.1'] })
  expect(await codeOf(own, '192.0.2.1')).toBe('no-answer')
  expect(await codeOf(own, '192.0.2.2')).toBe('address-refused')
})
