postMessage('the worker ran');
