import { AppRegistry, Pressable, Switch, Text, TextInput, TouchableOpacity, View } from 'react-native';
import { useState } from 'react';

const App = () => {
  const [agree, setAgree] = useState(false), [wifi, setWifi] = useState(false), [tab, setTab] = useState('first');
  return (
    <View>
      <TouchableOpacity onPress={() => (said.Save = true)}><Text>Save</Text></TouchableOpacity>
      <Pressable role="checkbox" aria-checked={agree} onPress={() => setAgree((said.Agree = !agree))}><Text>Agree</Text></Pressable>
      <Switch aria-label="Wifi" value={wifi} onValueChange={(value) => setWifi((said.Wifi = value))} />
      <Pressable onPress={() => (said.Colour = 'red')}><Text>Red</Text></Pressable><Pressable onPress={() => (said.Colour = 'blue')}><Text>Blue</Text></Pressable>
      <TextInput aria-label="Name" onChangeText={(text) => (said.Name = text)} />
      <View role="tablist"><Pressable role="tab" aria-selected={tab == 'first'} onPress={() => setTab((said.Tab = 'first'))}><Text>First</Text></Pressable><Pressable role="tab" aria-selected={tab == 'second'} onPress={() => setTab((said.Tab = 'second'))}><Text>Second</Text></Pressable></View>
    </View>
  );
};
AppRegistry.registerComponent('App', () => App);
AppRegistry.runApplication('App', { rootTag: document.getElementById('app') });
