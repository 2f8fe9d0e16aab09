// Says which tests are left out where PyPI is not reached: .ci/run finds that out, and says so.

const needPypi = ['test/peers/otlp-messages.test.ts']

export const withoutPypi: readonly string[] =
  process.env['GSLB_WITHOUT_PYPI'] === undefined ? [] : needPypi
