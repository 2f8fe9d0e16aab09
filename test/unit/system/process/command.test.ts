// Tests how commands read their environment.
import { expect, test } from 'vitest'
import { variable } from '#system/process/command.ts'

test.each([
  { what: 'set', env: { GSLB_DATA_DIR: '/srv/gslbd' }, value: '/srv/gslbd' },
  { what: 'set but empty', env: { GSLB_DATA_DIR: '' }, value: undefined },
  { what: 'not set', env: {}, value: undefined },
])('a variable that is $what is read as $value', ({ env, value }) => {
  expect(variable(env, 'GSLB_DATA_DIR')).toBe(value)
})
