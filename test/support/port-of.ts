// Makes a port of the calls that a test needs: another call is a fault of the test, and says so.
export function portOf<Port extends object>(
  name: string,
  calls: Partial<NoInfer<Port>> = {},
): Port {
  return new Proxy(calls as Port, {
    get: (given, call): unknown =>
      Reflect.has(given, call)
        ? Reflect.get(given, call)
        : () => {
            throw new Error(`this test brings no ${name}, but ${String(call)} was called`)
          },
  })
}
