// Which format of metrics a client gets, and OpenMetrics by rewriting.
import { describe, expect, test } from 'vitest'
import { asOpenMetrics, formFor } from '#metrics/text/form.ts'

describe('the form for', () => {
  const ofPrometheus =
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;' +
    'q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  test.each([
    [undefined, 'prometheus'],
    ['*/*', 'prometheus'],
    ['text/plain', 'prometheus'],
    [ofPrometheus, 'openmetrics'],
    ['Application/OpenMetrics-Text', 'openmetrics'],
    ['application/openmetrics-text;q=0', 'prometheus'],
    ['application/openmetrics-text;q=x', 'prometheus'],
    ['application/openmetrics-text;q=0.3,text/plain;q=0.8', 'prometheus'],
    [',;,=', 'prometheus'],
  ])('%s is %s', (accept, form) => {
    expect(formFor(accept)).toBe(form)
  })
})

test('families of counters lose their suffix, and nothing else does', () => {
  const text = [
    '# HELP a_total Of a_total counter.',
    '# TYPE a_total counter',
    'a_total{b="# TYPE c_total counter"} 1',
    '',
    '# HELP d_total A gauge.',
    '# TYPE d_total gauge',
    'd_total 2',
    '',
  ].join('\n')
  expect(asOpenMetrics(text)).toBe(
    [
      '# HELP a Of a_total counter.',
      '# TYPE a counter',
      'a_total{b="# TYPE c_total counter"} 1',
      '# HELP d_total A gauge.',
      '# TYPE d_total gauge',
      'd_total 2',
      '# EOF',
      '',
    ].join('\n'),
  )
})
